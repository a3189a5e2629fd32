"""How many bits a weight has, by the name of the quantization that an endpoint states."""

# What is not here, "unknown" above all, has bits that nobody knows.
QUANTIZATION_BITS = {
    **dict.fromkeys(("int4", "fp4", "mxfp4", "nvfp4"), 4),
    "fp6": 6,
    **dict.fromkeys(("int8", "fp8", "mxfp8"), 8),
    **dict.fromkeys(("fp16", "bf16"), 16),
    "fp32": 32,
}
