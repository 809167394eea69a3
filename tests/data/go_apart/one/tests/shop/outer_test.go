package shop_test

import (
	"testing"

	"given/shop"
)

func TestFromOutside(t *testing.T) {
	if shop.Double(4) != 8 || (shop.Point{X: 1}).Add(shop.Point{Y: 2}) != (shop.Point{X: 1, Y: 2}) {
		t.Fatal(shop.Double(4))
	}
}
