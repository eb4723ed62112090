#!/bin/sh
# Run a command, and remove the texts of errors from its output, because the texts of the portable edition differ.
"$@" 2>&1 | sed -E -e '/^ *(DETAIL|HINT):/d' -e 's/^( *ERROR):.*/\1/'
