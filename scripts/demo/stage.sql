-- stage.sql: a table that takes any request, whatever is in it

TRUNCATE orders;
\echo

CREATE TABLE request (
    line        int PRIMARY KEY,
    note        text,
    command_id  text,
    order_id    text,
    batch_clock text,
    request     text
);
\echo
