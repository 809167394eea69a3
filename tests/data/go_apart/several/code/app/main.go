package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"given/util"
)

var verbose = flag.Bool("verbose", false, "")

func main() {
	fmt.Println(run(context.Background(), os.Args[1:]))
}

func run(ctx context.Context, words []string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return fmt.Sprint(util.Last(words), *verbose), nil
}
