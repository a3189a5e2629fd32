"""Write a tokenizer of single characters where the hub's cache would have one: no network."""

from __future__ import annotations

import sys
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

COMMIT = "0" * 39 + "1"

cache = Path(sys.argv[1]) / "hub" / "models--stand-in--characters"
(cache / "refs").mkdir(parents=True)
(cache / "refs" / "main").write_text(COMMIT)
characters = {chr(code): code - 31 for code in range(32, 127)}
tokenizer = Tokenizer(models.BPE({"<unk>": 0} | characters, [], unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
tokenizer.decoder = decoders.ByteLevel()
PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, unk_token="<unk>", eos_token="<unk>"
).save_pretrained(cache / "snapshots" / COMMIT)
