package main

import (
	"context"
	"encoding/hex"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The application generates the keys of invoices and their lines, under a key of its settings.

type Line struct {
	ID   pgtype.UUID
	Note string
}

type Invoice struct {
	ID    pgtype.UUID
	Note  string
	Lines []Line
}

func newKey(area string) (id pgtype.UUID, err error) {
	key, err := hex.DecodeString(os.Getenv("ID_KEY"))
	if err == nil {
		id.Bytes, err = NewHmacComb([16]byte(key), area)
	}
	id.Valid = err == nil
	return id, err
}

func newInvoice(note string, lines ...string) (invoice Invoice, err error) {
	invoice.Note = note
	if invoice.ID, err = newKey("invoices"); err != nil {
		return invoice, err
	}
	for _, note := range lines {
		id, err := newKey("invoice_lines")
		if err != nil {
			return invoice, err
		}
		invoice.Lines = append(invoice.Lines, Line{id, note})
	}
	return invoice, nil
}

// The client that gets no answer repeats this with the same invoices. The statements of a batch are one transaction.
func insertInvoices(ctx context.Context, db *pgxpool.Pool, invoices ...Invoice) error {
	batch := &pgx.Batch{}
	for _, invoice := range invoices {
		batch.Queue("INSERT INTO invoices (id, note) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING", invoice.ID, invoice.Note)
		for _, line := range invoice.Lines {
			batch.Queue(`INSERT INTO invoice_lines (id, invoice_id, note) VALUES ($1, $2, $3)
				ON CONFLICT (id) DO NOTHING`, line.ID, invoice.ID, line.Note)
		}
	}
	return db.SendBatch(ctx, batch).Close()
}
