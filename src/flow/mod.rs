//! Folds progress into a view model and renders the flow message. Pure.
