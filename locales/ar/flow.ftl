# flow
