package main

import (
	"context"
	"encoding/hex"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Line has a key that the application generates.
type Line struct {
	ID   pgtype.UUID
	Note string
}

// Invoice has a key that the application generates.
type Invoice struct {
	ID    pgtype.UUID
	Note  string
	Lines []Line
}

// newKey panics if the setting is wrong.
func newKey(area string) pgtype.UUID {
	key, err := hex.DecodeString(os.Getenv("ID_KEY"))
	if err != nil {
		panic(err)
	}
	id, err := NewHmacComb([16]byte(key), area)
	if err != nil {
		panic(err)
	}
	return pgtype.UUID{Bytes: id, Valid: true}
}

func newInvoice(note string, lines ...string) Invoice {
	invoice := Invoice{ID: newKey("invoices"), Note: note}
	for _, note := range lines {
		invoice.Lines = append(invoice.Lines, Line{newKey("invoice_lines"), note})
	}
	return invoice
}

// The client that gets no answer repeats this with the same invoices.
func insertInvoices(ctx context.Context, tx pgx.Tx, invoices ...Invoice) error {
	batch := &pgx.Batch{}
	for _, invoice := range invoices {
		batch.Queue("INSERT INTO invoices (id, note) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", invoice.ID, invoice.Note)
		for _, line := range invoice.Lines {
			batch.Queue(`INSERT INTO invoice_lines (id, invoice_id, note) VALUES ($1, $2, $3)
				ON CONFLICT (id) DO NOTHING`, line.ID, invoice.ID, line.Note)
		}
	}
	return tx.SendBatch(ctx, batch).Close()
}
