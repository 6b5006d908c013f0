# telegram
