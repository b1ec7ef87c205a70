module example.org/@RUNTIME@

go 1.25
