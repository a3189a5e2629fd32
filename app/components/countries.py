"""Countries as a reader knows them: flag and name."""

from __future__ import annotations

# Those in which a developer of models sits that is kept by hand; others are shown by their code.
NAMES = {
    "AE": "United Arab Emirates",
    "CA": "Canada",
    "CH": "Switzerland",
    "CN": "China",
    "DE": "Germany",
    "ES": "Spain",
    "FR": "France",
    "GB": "United Kingdom",
    "IL": "Israel",
    "IN": "India",
    "JP": "Japan",
    "KR": "South Korea",
    "NL": "Netherlands",
    "RU": "Russia",
    "SE": "Sweden",
    "SG": "Singapore",
    "TW": "Taiwan",
    "US": "United States",
}
_FIRST_LETTER = 0x1F1E6  # the regional indicator A; two of them make a flag


def country_text(code: str) -> str:
    """Write an ISO 3166 code of two letters as flag and name; another text is left as it is."""
    if len(code) != 2 or not (code.isascii() and code.isalpha()):
        return code
    letters = code.upper()
    flag = "".join(chr(_FIRST_LETTER + ord(letter) - ord("A")) for letter in letters)
    return f"{flag} {NAMES.get(letters, letters)}"
