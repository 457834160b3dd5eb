// Package ui is the page: go-app components over a session. Data flows down as
// plain values and pointers that are replaced when they change; events flow up
// through the small interfaces that components are given. Nothing is computed
// here that a worker could compute, and chart data never passes the virtual DOM.
package ui
