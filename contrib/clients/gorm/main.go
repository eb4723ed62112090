// GORM 1 with lib/pq, the version of Debian: cp pgx/short_comb.go gorm && go build -o build/gorm ./gorm
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/jinzhu/gorm"
	"github.com/lib/pq"
)

// A key with a default is not inserted while it is empty, and read back.

type Order struct {
	ID   string `gorm:"type:uuid;primary_key;default:idgen.keyed_comb(area => 'orders')"`
	Note string
}

type Draft struct {
	ID   string `gorm:"type:uuid;primary_key;default:idgen.short_comb()"`
	Note string
}

type Event struct {
	ID string `gorm:"type:uuid;primary_key;default:idgen.uuid_v7()"`
}

type Visit struct {
	ID int64 `gorm:"primary_key;default:idgen.snowflake()"`
}

type Click struct {
	ID int64 `gorm:"primary_key;default:idgen.js_id()"`
}

type Account struct {
	ID   string `gorm:"type:account_id;primary_key;default:idgen.prefixed_id('acct')"`
	Note string
}

func text(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func newShortComb() string {
	id, err := NewShortComb()
	if err != nil {
		panic(err)
	}
	return text(id)
}

// violation returns the SQLSTATE of an error, and the name of the constraint that was violated.
func violation(err error) string {
	var refusal *pq.Error
	if errors.As(err, &refusal) {
		return string(refusal.Code) + " " + refusal.Constraint
	}
	return fmt.Sprint(err)
}

// Creation is what idgen.create_once() returns.
type Creation struct {
	EntityID string
	Created  bool
}

// createOrder creates an order once, however often the command is sent.
func createOrder(db *gorm.DB, commandID, note string) (creation Creation, err error) {
	request, err := json.Marshal(map[string]string{"note": note})
	if err != nil {
		return
	}
	err = db.Transaction(func(tx *gorm.DB) error {
		err := tx.Raw("SELECT entity_id, created FROM idgen.create_once(?, idgen.keyed_comb(area => 'orders'), 'create order', ?)",
			commandID, string(request)).Scan(&creation).Error
		if err == nil && creation.Created {
			err = tx.Create(&Order{ID: creation.EntityID, Note: note}).Error
		}
		return err
	})
	return
}

var retriable = regexp.MustCompile("^(08|40|57P)")

// createOrderUntilAnswered is for a command id that is made once, and is the same in every retry.
func createOrderUntilAnswered(commandID, note string) (creation Creation, err error) {
	for ; ; time.Sleep(100 * time.Millisecond) {
		var db *gorm.DB
		if db, err = connect(); err == nil {
			creation, err = createOrder(db, commandID, note)
			db.Close()
		}
		var refusal *pq.Error
		if err == nil || errors.As(err, &refusal) && !retriable.MatchString(string(refusal.Code)) {
			return
		}
	}
}

// orders creates an order for each command id that it reads.
func orders() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		creation, err := createOrderUntilAnswered(lines.Text(), lines.Text())
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(creation.EntityID)
	}
}

func connect() (*gorm.DB, error) {
	db, err := gorm.Open("postgres", "sslmode=disable") // PGHOST, PGPORT, PGUSER, PGDATABASE
	if err == nil {
		db.LogMode(false)
	}
	return db, err
}

func generator(db *gorm.DB) error {
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
		line := strings.ReplaceAll(lines.Text(), ",", " ")
		if _, err = fmt.Sscanf(line, "%d %d %d %s %s", &period, &bytes, &ms, &digits, &expected); err != nil {
			return err
		}
		var random [16]byte
		if _, err = hex.Decode(random[:], []byte(digits)); err != nil {
			return err
		}
		if id := text(shortComb(time.UnixMilli(ms), random, period, bytes)); id != expected {
			return fmt.Errorf("%s in place of %s", id, expected)
		}
	}
	return lines.Err()
}

func noteOf(db *gorm.DB, id string) string {
	var order Order
	db.First(&order, "id = ?", id)
	return order.Note
}

func defaultKey(db *gorm.DB) error {
	order := Order{Note: "one"}
	err := db.Create(&order).Error
	if err = check(err, len(order.ID) == 36 && noteOf(db, order.ID) == "one", order.ID); err != nil {
		return err
	}

	// AutoMigrate makes a table, and changes nothing the second time.
	type Task struct {
		ID   string `gorm:"type:uuid;primary_key;default:idgen.keyed_comb(area => 'tasks')"`
		Note string
	}
	err = db.Exec("DROP TABLE IF EXISTS tasks").AutoMigrate(&Task{}).AutoMigrate(&Task{}).Error
	task := Task{Note: "two"}
	if err == nil {
		err = db.Create(&task).Exec("DROP TABLE tasks").Error
	}
	return check(err, len(task.ID) == 36, "no key")
}

func clientKey(db *gorm.DB) error {
	if err := db.Create(&Draft{ID: newShortComb(), Note: "two"}).Error; err != nil {
		return err
	}
	var random [16]byte
	rand.Read(random[:])
	old := text(shortComb(time.Now().Add(-24*time.Hour), random, 60_000, 2))
	err := db.Create(&Draft{ID: old, Note: "three"}).Error
	return check(nil, violation(err) == "23514 drafts_id_is_recent", violation(err))
}

func createOnce(db *gorm.DB) error {
	commandID := newShortComb()
	first, err := createOrder(db, commandID, "four")
	if err = check(err, first.Created, "the first call did not create"); err != nil {
		return err
	}
	retried, err := createOrder(db, commandID, "four")
	if err = check(err, !retried.Created && retried.EntityID == first.EntityID, "the retry created"); err != nil {
		return err
	}
	if err = check(nil, noteOf(db, first.EntityID) == "four", "no order of the command"); err != nil {
		return err
	}
	_, err = createOrder(db, commandID, "five")
	return check(nil, violation(err) == "23514 creation_identifiers_same_command", violation(err))
}

func bigintKeys(db *gorm.DB) error {
	visit, click := Visit{}, Click{}
	if err := db.Create(&visit).Error; err != nil {
		return err
	}
	if err := db.Create(&click).Error; err != nil {
		return err
	}
	const beyondDouble int64 = 1<<53 + 1
	if err := check(nil, visit.ID > beyondDouble && click.ID > 0 && click.ID < beyondDouble, fmt.Sprint(visit, click)); err != nil {
		return err
	}
	if err := db.Delete(&Visit{ID: beyondDouble}).Error; err != nil {
		return err
	}
	exact := Visit{ID: beyondDouble}
	err := db.Create(&exact).Error
	return check(err, exact.ID == beyondDouble, "2^53 + 1")
}

func prefixedID(db *gorm.DB) error {
	account := Account{Note: "seven"}
	err := db.Create(&account).Error
	if err = check(err, regexp.MustCompile("^acct_[0-9a-z]{25}$").MatchString(account.ID), account.ID); err != nil {
		return err
	}
	err = db.Create(&Account{ID: strings.Replace(account.ID, "acct", "order", 1)}).Error
	return check(nil, violation(err) == "23514 prefixed_id_check", violation(err))
}

func rangeOfTime(db *gorm.DB) error {
	event := Event{}
	if err := db.Create(&event).Error; err != nil {
		return err
	}
	now := time.Now()
	for hours, expected := range []int{1, 0} {
		start := now.Add(time.Duration(2*hours-1) * time.Hour)
		var count int
		err := db.Model(&Event{}).Where("idgen.uuid_v7_within(id, ?, ?) AND id = ?", start, start.Add(2*time.Hour), event.ID).Count(&count).Error
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
	db, err := connect()
	if err != nil {
		fmt.Println("not ok gorm: connect:", err)
		os.Exit(1)
	}
	status := 0
	for _, task := range []struct {
		name string
		run  func(*gorm.DB) error
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
			fmt.Printf("not ok gorm: %s: %v\n", task.name, err)
			status = 1
		} else {
			fmt.Printf("ok gorm: %s\n", task.name)
		}
	}
	db.Close()
	os.Exit(status)
}
