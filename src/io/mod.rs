//! Gauge configuration files.
