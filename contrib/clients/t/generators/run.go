// The generators of Go, see t/003_generators.pl
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func bytes(text string) (bytes [16]byte) {
	hex.Decode(bytes[:], []byte(text))
	return
}

func number(text string) int64 {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch w := strings.Split(lines.Text(), "\t"); w[0] {
		case "short":
			fmt.Printf("%x\n", shortComb(time.UnixMilli(number(w[3])), bytes(w[4]), number(w[1]), int(number(w[2]))))
		case "hmac":
			fmt.Printf("%x\n", hmacComb(bytes(w[1]), w[2], number(w[4]), bytes(w[5]), number(w[3])))
		default:
			short, _ := NewShortComb()
			keyed, _ := NewHmacComb(bytes(w[1]), w[2])
			fmt.Printf("%x %x\n", short, keyed)
		}
	}
}
