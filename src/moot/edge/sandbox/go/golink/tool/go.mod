module moot.invalid/tool

go 1.22

require moot.invalid/link v0.0.0

replace moot.invalid/link => ../link
