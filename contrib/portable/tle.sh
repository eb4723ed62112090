#!/bin/sh
#
# tle.sh: the files of the portable edition as extensions for pg_tle and dbdev.
#
#   contrib/portable/tle.sh [FOLDER]      default: tle
#
# For each file, writes FOLDER/NAME.sql, which calls pgtle.install_extension(), and
# FOLDER/NAME with NAME.control and NAME--VERSION.sql, which dbdev reads.

set -eu
folder=${1:-tle}
portable=$(dirname "$0")
version=1.0

# FILE REQUIRED COMMENT
package() {
    name=idgen_$1
    mkdir -p "$folder/$name"
    cat "$portable/$1.sql" >"$folder/$name/$name--$version.sql"
    # pg_dump then includes the recorded commands
    [ "$1" != create_once ] ||
        echo "SELECT pg_catalog.pg_extension_config_dump('idgen.creation_identifiers', '');" >>"$folder/$name/$name--$version.sql"
    {
        echo "comment = '$3'"
        echo "default_version = '$version'"
        echo "relocatable = false"
        [ -z "$2" ] || echo "requires = '$2'"
    } >"$folder/$name/$name.control"
    {
        printf "SELECT pgtle.install_extension('%s', '%s', '%s', \$idgen_tle\$\n" "$name" "$version" "$3"
        cat "$folder/$name/$name--$version.sql"
        printf "\$idgen_tle\$, '{%s}');\n" "$2"
    } >"$folder/$name.sql"
}

package uuids '' 'UUIDs of idgen, portable edition'
package text_ids idgen_uuids 'text ids of idgen, portable edition'
package create_once idgen_uuids 'create_once() of idgen, portable edition'
