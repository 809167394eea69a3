module moot.invalid/link

go 1.21
