-- stage.sql: a table that accepts any request

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
