package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Order has a key that the server generates.
type Order struct {
	ID        pgtype.UUID
	CreatedAt pgtype.Timestamptz
	Note      string
}

func insertOrder(ctx context.Context, tx pgx.Tx, note string) (Order, error) {
	rows, _ := tx.Query(ctx, "INSERT INTO orders (note) VALUES ($1) RETURNING *", note)
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Order])
}

func insertOrders(ctx context.Context, tx pgx.Tx, notes []string) ([]Order, error) {
	rows, _ := tx.Query(ctx, "INSERT INTO orders (note) SELECT unnest($1::text[]) RETURNING *", notes)
	return pgx.CollectRows(rows, pgx.RowToStructByName[Order])
}

// none is the position before the first page of a list.
var none = Order{
	ID:        pgtype.UUID{Bytes: uuid.Max, Valid: true},
	CreatedAt: pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true},
}

// ordersAfter returns the newest orders after none, or the orders after the last one of the previous page.
func ordersAfter(ctx context.Context, tx pgx.Tx, last Order, limit int) ([]Order, error) {
	query := "SELECT * FROM orders WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
	rows, _ := tx.Query(ctx, query, last.CreatedAt, last.ID, limit)
	return pgx.CollectRows(rows, pgx.RowToStructByName[Order])
}

const createOnce = `SELECT entity_id, created
	FROM idgen.create_once(
		idgen.check_recent_uuid_v7($1::uuid, past_tolerance => '1 day', future_tolerance => '10 minutes'),
		idgen.keyed_comb('orders'), 'create order', jsonb_build_object('note', $2::text))`

// A client calls newCommand once for each command, and sends the same id in every retry.
func newCommand() (uuid.UUID, error) { return uuid.NewV7() }

func createOrder(ctx context.Context, db *pgxpool.Pool, command, note string) (order Order, err error) {
	err = pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var id pgtype.UUID
		var created bool
		if err := tx.QueryRow(ctx, createOnce, command, note).Scan(&id, &created); err != nil {
			return err
		}
		if created {
			if _, err := tx.Exec(ctx, "INSERT INTO orders (id, note) VALUES ($1, $2)", id, note); err != nil {
				return err
			}
		}
		rows, _ := tx.Query(ctx, "SELECT * FROM orders WHERE id = $1", id)
		order, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Order])
		return err
	})
	return order, err
}
