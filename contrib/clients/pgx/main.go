// Go with pgx 4: go build -o build/pgx ./pgx
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

// UUID is what pgx reads and writes for the type uuid.
type UUID = [16]byte

var ctx = context.Background()

// violation returns the SQLSTATE of an error, and the name of the constraint that was violated.
func violation(err error) string {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Code + " " + refusal.ConstraintName
	}
	return fmt.Sprint(err)
}

// createOrder creates an order once, however often the command is sent.
func createOrder(db *pgx.Conn, commandID UUID, note string) (id UUID, created bool, err error) {
	err = db.BeginFunc(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx,
			"SELECT entity_id, created FROM idgen.create_once($1, idgen.keyed_comb(area => 'orders'), 'create order', $2)",
			commandID, map[string]string{"note": note}).Scan(&id, &created)
		if err == nil && created {
			_, err = tx.Exec(ctx, "INSERT INTO orders (id, note) VALUES ($1, $2)", id, note)
		}
		return err
	})
	return
}

var retriable = regexp.MustCompile("^(08|40|57P)")

// createOrderUntilAnswered is for a command id that is made once, and is the same in every retry.
func createOrderUntilAnswered(commandID UUID, note string) (id UUID, err error) {
	for ; ; time.Sleep(100 * time.Millisecond) {
		var db *pgx.Conn
		if db, err = pgx.Connect(ctx, ""); err == nil {
			id, _, err = createOrder(db, commandID, note)
			db.Close(ctx)
		}
		var refusal *pgconn.PgError
		if err == nil || errors.As(err, &refusal) && !retriable.MatchString(refusal.Code) {
			return
		}
	}
}

// orders creates an order for each command id that it reads.
func orders() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var commandID UUID
		hex.Decode(commandID[:], []byte(strings.ReplaceAll(lines.Text(), "-", "")))
		id, err := createOrderUntilAnswered(commandID, lines.Text())
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("%x-%x-%x-%x-%x\n", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
}

func generator(db *pgx.Conn) error {
	file, err := os.Open("short_comb_vectors.csv")
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan(); lines.Scan(); {
		var period, ms int64
		var bytes int
		var digits, expected string
		if _, err = fmt.Sscanf(strings.ReplaceAll(lines.Text(), ",", " "), "%d %d %d %s %s", &period, &bytes, &ms, &digits, &expected); err != nil {
			return err
		}
		var random UUID
		if _, err = hex.Decode(random[:], []byte(digits)); err != nil {
			return err
		}
		id := shortComb(time.UnixMilli(ms), random, period, bytes)
		if hex.EncodeToString(id[:]) != strings.ReplaceAll(expected, "-", "") {
			return fmt.Errorf("%x in place of %s", id, expected)
		}
	}
	return lines.Err()
}

func defaultKey(db *pgx.Conn) error {
	var id UUID
	if err := db.QueryRow(ctx, "INSERT INTO orders (note) VALUES ($1) RETURNING id", "one").Scan(&id); err != nil {
		return err
	}
	return checkNote(db, id, "one")
}

func checkNote(db *pgx.Conn, id UUID, expected string) error {
	var note string
	err := db.QueryRow(ctx, "SELECT note FROM orders WHERE id = $1", id).Scan(&note)
	return check(err, note == expected, note)
}

func clientKey(db *pgx.Conn) error {
	id, err := NewShortComb()
	if err != nil {
		return err
	}
	insert := "INSERT INTO drafts (id, note) VALUES ($1, $2)"
	if _, err = db.Exec(ctx, insert, id, "two"); err != nil {
		return err
	}
	_, err = db.Exec(ctx, insert, shortComb(time.Now().Add(-24*time.Hour), id, 60_000, 2), "three")
	return check(nil, violation(err) == "23514 drafts_id_is_recent", violation(err))
}

func createOnce(db *pgx.Conn) error {
	commandID, err := NewShortComb()
	if err != nil {
		return err
	}
	first, created, err := createOrder(db, commandID, "four")
	if err = check(err, created, "the first call did not create"); err != nil {
		return err
	}
	retried, created, err := createOrder(db, commandID, "four")
	if err = check(err, !created && retried == first, "the retry created"); err != nil {
		return err
	}
	if err = checkNote(db, first, "four"); err != nil {
		return err
	}
	_, _, err = createOrder(db, commandID, "five")
	return check(nil, violation(err) == "23514 creation_identifiers_same_command", violation(err))
}

func bigintKeys(db *pgx.Conn) error {
	for _, table := range []string{"visits", "clicks"} {
		var id int64
		var digits string
		err := db.QueryRow(ctx, "INSERT INTO "+table+" DEFAULT VALUES RETURNING id, id::text").Scan(&id, &digits)
		if err = check(err, strconv.FormatInt(id, 10) == digits, table); err != nil {
			return err
		}
	}
	const beyondDouble int64 = 1<<53 + 1
	if _, err := db.Exec(ctx, "DELETE FROM visits WHERE id = $1", beyondDouble); err != nil {
		return err
	}
	var id int64
	err := db.QueryRow(ctx, "INSERT INTO visits (id) VALUES ($1) RETURNING id", beyondDouble).Scan(&id)
	return check(err, id == beyondDouble, "2^53 + 1")
}

func prefixedID(db *pgx.Conn) error {
	var id string
	err := db.QueryRow(ctx, "INSERT INTO accounts DEFAULT VALUES RETURNING id").Scan(&id)
	if err = check(err, regexp.MustCompile("^acct_[0-9a-z]{25}$").MatchString(id), id); err != nil {
		return err
	}
	_, err = db.Exec(ctx, "INSERT INTO accounts (id) VALUES ($1)", strings.Replace(id, "acct", "order", 1))
	return check(nil, violation(err) == "23514 prefixed_id_check", violation(err))
}

func rangeOfTime(db *pgx.Conn) error {
	var id UUID
	if err := db.QueryRow(ctx, "INSERT INTO events DEFAULT VALUES RETURNING id").Scan(&id); err != nil {
		return err
	}
	now := time.Now()
	for hours, expected := range []int{1, 0} {
		start := now.Add(time.Duration(2*hours-1) * time.Hour)
		var count int
		err := db.QueryRow(ctx, "SELECT count(*) FROM events WHERE idgen.uuid_v7_within(id, $1, $2) AND id = $3",
			start, start.Add(2*time.Hour), id).Scan(&count)
		if err = check(err, count == expected, "count in another range"); err != nil {
			return err
		}
	}
	return nil
}

func check(err error, holds bool, message string) error {
	if err == nil && !holds {
		return errors.New(message)
	}
	return err
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "orders" {
		orders()
		return
	}
	db, err := pgx.Connect(ctx, "") // PGHOST, PGPORT, PGUSER, PGDATABASE
	if err != nil {
		fmt.Println("not ok pgx: connect:", err)
		os.Exit(1)
	}
	status := 0
	for _, task := range []struct {
		name string
		run  func(*pgx.Conn) error
	}{
		{"generator", generator},
		{"default key", defaultKey},
		{"client key", clientKey},
		{"create once", createOnce},
		{"bigint keys", bigintKeys},
		{"prefixed id", prefixedID},
		{"range of time", rangeOfTime},
	} {
		if err := task.run(db); err != nil {
			fmt.Printf("not ok pgx: %s: %v\n", task.name, err)
			status = 1
		} else {
			fmt.Printf("ok pgx: %s\n", task.name)
		}
	}
	db.Close(ctx)
	os.Exit(status)
}
