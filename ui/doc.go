// Package ui joins the page's components: routes, help and stories. Data flows down as
// plain values and pointers that are replaced when they change; events flow up through the
// small interfaces that components are given. Nothing is computed here that a worker could
// compute, and chart data never passes the virtual DOM.
package ui
