// Package verify tests package fleet with real servers. It is a module of its own,
// so that a program with fleet does not get the server among its modules.
package verify
