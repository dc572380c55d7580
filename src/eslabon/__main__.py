"""`python -m eslabon` is the command `eslabon`."""

from eslabon.cli import main

main()
