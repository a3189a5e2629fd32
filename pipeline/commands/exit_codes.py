"""What the exit code of every command means."""

DONE = 0
FAILED = 1
WRONG_USE = 2
PARTIAL = 3

EXIT_CODES = (
    "Exit codes: 0 done; 1 failed, nothing half written; 2 wrong use or setting; "
    "3 done in part, and said which."
)
