// pgx: run the statements of a file, see t/tools/015_parameters.pl
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	file, err := os.ReadFile(os.Args[1])
	must(err)
	db, err := pgx.Connect(ctx, "")
	must(err)
	_, err = db.Exec(ctx, "BEGIN")
	must(err)
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		fields := strings.Split(line, "\t")
		var args []interface{}
		for _, arg := range strings.Split(fields[2], "|") {
			if arg != "" {
				args = append(args, arg)
			}
		}
		_, err = db.Exec(ctx, "SAVEPOINT before")
		must(err)
		_, err = db.Exec(ctx, fields[3], args...)
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			fmt.Println(refused.Code, fields[0])
		} else if err != nil {
			fmt.Println(err, fields[0])
		} else {
			fmt.Println("ok", fields[0])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			_, err = db.Exec(ctx, "ROLLBACK TO before")
			must(err)
		}
	}
}
