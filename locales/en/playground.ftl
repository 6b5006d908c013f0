# playground
