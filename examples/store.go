// Package main is a small user store with flaws on purpose.
package main

import (
	"crypto/tls"
	"database/sql"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

type User struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

type Store struct {
	db *sql.DB
}

func (s *Store) ByName(name string) (*sql.Rows, error) {
	return s.db.Query(fmt.Sprintf("SELECT id, name FROM users WHERE name = '%s'", name))
}

func (s *Store) Delete(id string) error {
	query := "DELETE FROM users WHERE id = " + id
	_, err := s.db.Exec(query)
	return err
}

func (s *Store) Sorted(column string) (*sql.Rows, error) {
	return s.db.Query("SELECT id, name FROM users ORDER BY " + column)
}

func ParseID(text string) (int, error) {
	id, _ := strconv.Atoi(text)
	return id, nil
}

func Encode(user User) ([]byte, error) {
	data, _ := json.Marshal(user)
	return data, nil
}

func Archive(name string) ([]byte, error) {
	return exec.Command("sh", "-c", "tar -cf /tmp/users.tar "+name).Output()
}

func Client() *http.Client {
	config := &tls.Config{InsecureSkipVerify: true}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
}

func Greeting(name string) template.HTML {
	return template.HTML("<b>" + name + "</b>")
}

func Count(names []string) map[string]int {
	counts := map[string]int{}
	var wait sync.WaitGroup
	for _, name := range names {
		wait.Add(1)
		go func(name string) {
			defer wait.Done()
			counts[name]++
		}(name)
	}
	wait.Wait()
	return counts
}

func main() {
	db, _ := sql.Open("sqlite3", os.Getenv("STORE"))
	store := &Store{db: db}
	_ = store.Delete("0")
	fmt.Println(ParseID("7"))
}
