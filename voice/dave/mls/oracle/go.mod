// Module oracle checks package mls against another implementation of MLS, and
// pins the module that carries the working group's test vectors. It is a module
// of its own so that the program does not depend on either.
module github.com/glyphoxa/glyphoxa/voice/dave/mls/oracle

go 1.26.0

require (
	github.com/glyphoxa/glyphoxa v0.0.0
	github.com/thomas-vilte/mls-go v1.6.0
)

require (
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/glyphoxa/glyphoxa => ../../../..
