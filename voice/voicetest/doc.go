// Package voicetest is a Discord voice server that runs on loopback: for tests,
// and for trying the program out without Discord.
package voicetest
