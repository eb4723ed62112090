// Answer the commands of programs.txt with the template in this folder.
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

func answer(ctx context.Context, tx pgx.Tx, command string, words []string) (answer []any, err error) {
	switch command {
	case "order_with_invoice":
		order, err := insertOrder(ctx, tx, words[0])
		if err != nil {
			return nil, err
		}
		invoice, err := newInvoice(order.ID)
		if err != nil {
			return nil, err
		}
		return []any{order.ID, invoice.ID}, insertInvoice(ctx, tx, invoice)
	case "bulk":
		number, _ := strconv.Atoi(words[1])
		orders, err := insertOrders(ctx, tx, strings.Split(strings.Repeat("\t"+words[0], number), "\t")[1:])
		for _, order := range orders {
			answer = append(answer, order.ID)
		}
		return answer, err
	case "pages":
		limit, _ := strconv.Atoi(words[0])
		for last := none; ; {
			page, err := ordersAfter(ctx, tx, last, limit)
			if err != nil || len(page) == 0 {
				return answer, err
			}
			for _, last = range page {
				answer = append(answer, last.ID)
			}
		}
	case "new_command":
		command, err := newCommand()
		return []any{command}, err
	case "insert_invoice":
		var invoice Invoice
		_, _ = invoice.ID.Scan(words[0]), invoice.OrderID.Scan(words[1])
		return nil, insertInvoice(ctx, tx, invoice)
	}
	return answer, err
}

func main() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, os.Getenv("POOL_SETTING")) // and PGHOST, PGPORT, PGUSER, PGDATABASE
	if err != nil {
		panic(err)
	}
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
