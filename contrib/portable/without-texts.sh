#!/bin/sh
# Run a command, and leave out the texts of the errors that it prints: the portable edition has its own.
"$@" 2>&1 | sed -E -e '/^ *(DETAIL|HINT):/d' -e 's/^( *ERROR):.*/\1/'
