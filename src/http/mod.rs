//! Health, metrics, REST and webhook intake on one port.
