// pgx: run each statement of a file, see t/tools/015_parameters.pl
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

func main() {
	ctx := context.Background()
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	db, err := pgx.Connect(ctx, "")
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
		fields := strings.Split(line, "\t")
		var args []interface{}
		for _, arg := range strings.Split(fields[2], "|") {
			args = append(args, arg)
		}
		tx, err := db.Begin(ctx)
		if err != nil {
			panic(err)
		}
		_, err = tx.Exec(ctx, fields[3], args...)
		var refused *pgconn.PgError
		if errors.As(err, &refused) {
			fmt.Println(refused.Code, fields[0])
		} else if err != nil {
			fmt.Println(err, fields[0])
		} else {
			fmt.Println("ok", fields[0])
		}
		if err = tx.Rollback(ctx); err != nil {
			panic(err)
		}
	}
}
