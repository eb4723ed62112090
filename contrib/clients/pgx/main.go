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
	"github.com/jackc/pgx/v5/pgxpool"
)

func answer(ctx context.Context, db *pgxpool.Pool, command string, words []string) (ids []fmt.Stringer, err error) {
	switch command {
	case "migrate":
		migration, err := os.ReadFile("migration.sql")
		if err == nil {
			_, err = db.Exec(ctx, string(migration))
		}
		return nil, err
	case "insert", "parent_and_child":
		err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			var customer Customer
			if command == "parent_and_child" {
				if customer, err = insertCustomer(ctx, tx, "a customer"); err != nil {
					return err
				}
				ids = append(ids, customer.ID)
			}
			order, err := insertOrder(ctx, tx, customer.ID, words[0])
			ids = append(ids, order.ID)
			return err
		})
	case "bulk":
		number, _ := strconv.Atoi(words[1])
		notes := strings.Split(strings.Repeat("\t"+words[0], number), "\t")[1:]
		orders, err := insertOrders(ctx, db, notes)
		for _, order := range orders {
			ids = append(ids, order.ID)
		}
		return ids, err
	case "graph":
		invoice, err := newInvoice(words[0], "a line", "another line")
		if err != nil {
			return nil, err
		}
		return []fmt.Stringer{invoice.ID, invoice.Lines[0].ID, invoice.Lines[1].ID}, insertInvoices(ctx, db, invoice)
	case "bulk_with_keys":
		number, _ := strconv.Atoi(words[1])
		invoices := make([]Invoice, number)
		for i := range invoices {
			if invoices[i], err = newInvoice(words[0]); err != nil {
				return nil, err
			}
			ids = append(ids, invoices[i].ID)
		}
		err = insertInvoices(ctx, db, invoices...)
	case "insert_with_key":
		invoice := Invoice{Note: words[1]}
		if err = invoice.ID.Scan(words[0]); err == nil {
			err = insertInvoices(ctx, db, invoice)
		}
		ids = append(ids, invoice.ID)
	default:
		panic(command)
	}
	return ids, err
}

func main() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, "") // PGHOST, PGPORT, PGUSER, PGDATABASE
	if err != nil {
		panic(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		words := strings.Split(in.Text(), "\t")
		output := []string{"ok"}
		if words[0] == "create_once" {
			var order Order
			order, err = createOrder(ctx, db, words[1], words[2])
			output = append(output, order.ID.String(), order.Note)
		} else {
			ids, failure := answer(ctx, db, words[0], words[1:])
			for _, id := range ids {
				output = append(output, id.String())
			}
			err = failure
		}
		if err != nil {
			var fields pgconn.PgError
			if of := (*pgconn.PgError)(nil); errors.As(err, &of) {
				fields = *of
			}
			output = []string{"error", fields.Code, fields.ConstraintName, strings.Join(strings.Fields(err.Error()), " ")}
		}
		fmt.Println(strings.Join(output, "\t"))
	}
}
