// Answers the commands of programs.txt by the template of this folder.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

func answer(ctx context.Context, tx pgx.Tx, command string, words []string) (answer []any, err error) {
	switch command {
	case "migrate":
		migration, _ := os.ReadFile("migration.sql")
		_, err = tx.Exec(ctx, string(migration))
	case "insert":
		order, err := insertOrder(ctx, tx, pgtype.UUID{}, words[0])
		return []any{order.ID}, err
	case "parent_and_child":
		var customer pgtype.UUID
		insert := "INSERT INTO customers (name) VALUES ('a customer') RETURNING id"
		if err := tx.QueryRow(ctx, insert).Scan(&customer); err != nil {
			return nil, err
		}
		order, err := insertOrder(ctx, tx, customer, words[0])
		return []any{customer, order.ID}, err
	case "bulk":
		number, _ := strconv.Atoi(words[1])
		orders, err := insertOrders(ctx, tx, strings.Split(strings.Repeat("\t"+words[0], number), "\t")[1:])
		for _, order := range orders {
			answer = append(answer, order.ID)
		}
		return answer, err
	case "graph":
		invoice := newInvoice(words[0], "a line", "another line")
		return []any{invoice.ID, invoice.Lines[0].ID, invoice.Lines[1].ID}, insertInvoices(ctx, tx, invoice)
	case "bulk_with_keys":
		number, _ := strconv.Atoi(words[1])
		invoices := make([]Invoice, number)
		for i := range invoices {
			invoices[i] = newInvoice(words[0])
			answer = append(answer, invoices[i].ID)
		}
		err = insertInvoices(ctx, tx, invoices...)
	case "insert_with_key":
		invoice := Invoice{Note: words[1]}
		_ = invoice.ID.Scan(words[0])
		return []any{invoice.ID}, insertInvoices(ctx, tx, invoice)
	}
	return answer, err
}

func main() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, "") // PGHOST, PGPORT, PGUSER, PGDATABASE
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Split(in.Text(), "\t")
		var output []any
		if words[0] == "create_once" {
			var order Order
			order, err = createOrder(ctx, db, words[1], words[2])
			output = []any{order.ID, order.Note}
		} else {
			err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) (err error) {
				output, err = answer(ctx, tx, words[0], words[1:])
				return err
			})
		}
		outcome := "ok"
		if err != nil {
			fields := &pgconn.PgError{}
			errors.As(err, &fields)
			outcome = "error"
			output = []any{fields.Code, fields.ConstraintName, strings.Join(strings.Fields(err.Error()), " ")}
		}
		for _, word := range output {
			outcome += fmt.Sprint("\t", word)
		}
		fmt.Println(outcome)
	}
}
