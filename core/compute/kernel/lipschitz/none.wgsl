//! none 1
