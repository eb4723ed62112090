package main

import (
	"context"
	"encoding/hex"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Invoice has a key that the application generates.
type Invoice struct {
	ID      pgtype.UUID
	OrderID pgtype.UUID
}

func newInvoice(orderID pgtype.UUID) (invoice Invoice, err error) {
	key, err := hex.DecodeString(os.Getenv("ID_KEY"))
	if err != nil {
		return invoice, err
	}
	id, err := NewHmacComb(key, "invoices")
	return Invoice{pgtype.UUID{Bytes: id, Valid: true}, orderID}, err
}

// A client that received no answer calls insertInvoice again with the same invoice.
func insertInvoice(ctx context.Context, tx pgx.Tx, invoice Invoice) error {
	_, err := tx.Exec(ctx, "INSERT INTO invoices (id, order_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
		invoice.ID, invoice.OrderID)
	return err
}
