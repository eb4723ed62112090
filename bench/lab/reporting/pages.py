"""The report as HTML and as Markdown."""

import html
import re
from collections import namedtuple

Heading = namedtuple("Heading", "level text")
Paragraph = namedtuple("Paragraph", "text kind", defaults=("",))     # kind: a class of HTML
Bullets = namedtuple("Bullets", "texts")
Contents = namedtuple("Contents", "headings")
Table = namedtuple("Table", "head rows kind", defaults=("",))


def anchor(heading):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def code_to_html(text):
    text = re.sub(r"(\d) %", "\\1\u00a0%", text)
    return "".join(f"<code>{html.escape(part)}</code>" if i % 2 else html.escape(part)
                   for i, part in enumerate(text.split("`")))


def html_row(cells, looks):
    """A row of a table; spreads are in small type, and a key has a square of its colour."""
    parts = []
    for i, text in enumerate(cells):
        body = code_to_html(text)
        if i:
            parts.append("<td>" + re.sub(r"^([\d.,<]+) (\([\d.,<–]+\))$", r"\1 <small>\2</small>", body) + "</td>")
        else:
            key = re.match(r"`(\w+)`", text)
            square = f'<i style="background:{looks[key.group(1)].colour}"></i>' if key and key.group(1) in looks else ""
            parts.append(f'<th scope="row">{square}{body}</th>')
    return f"<tr>{''.join(parts)}</tr>"


STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: #fff; color: #222;
       font: 16px/1.5 Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .6rem; border-top: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p, ul { max-width: 44rem; margin: .5rem 0; }
ul { padding-left: 1.2rem; }
.lead { border-left: 3px solid #1f6eb5; padding-left: .8rem; }
nav ul { columns: 17rem 2; }
a { color: #1f5f9e; }
code { font: .92em/1.4 'DejaVu Sans Mono', Menlo, Consolas, monospace; overflow-wrap: anywhere; }
figure, .wide { margin: 1rem 0; overflow-x: auto; }
figure { max-width: 54rem; }
svg { display: block; width: 100%; min-width: 600px; height: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem .2rem 0; text-align: right; vertical-align: baseline; white-space: nowrap; font-weight: normal; }
thead th { min-width: 4.5em; border-bottom: 1px solid #888; color: #555; white-space: normal; vertical-align: bottom; }
th:first-child, .text th, .text td { text-align: left; }
.text td { white-space: normal; overflow-wrap: anywhere; }
tbody tr:nth-child(5n) > * { border-bottom: 1px solid #e4e4e4; }
small { color: #777; }
i { display: inline-block; width: .65em; height: .65em; margin-right: .45em; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; }
  figure, .wide { overflow: visible; break-inside: avoid; } svg { min-width: 0; } h2, h3 { break-after: avoid; }
  tr { break-inside: avoid; } table { font-size: 7.5pt; } th, td { padding-right: .45rem; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""


# The page is complete in itself: no network, and no scripts.
HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"""


def render_html(blocks, looks):
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append(f'<h{block.level} id="{anchor(block.text)}">{code_to_html(block.text)}</h{block.level}>' if block.level == 2
                         else f"<h{block.level}>{code_to_html(block.text)}</h{block.level}>")
        elif isinstance(block, Paragraph):
            parts.append(f'<p class="{block.kind}">{code_to_html(block.text)}</p>' if block.kind else f"<p>{code_to_html(block.text)}</p>")
        elif isinstance(block, Bullets):
            parts.append("<ul>" + "".join(f"\n<li>{code_to_html(text)}</li>" for text in block.texts) + "\n</ul>")
        elif isinstance(block, Contents):
            parts.append("<nav><ul>" + "".join(f'\n<li><a href="#{anchor(text)}">{code_to_html(text)}</a></li>' for text in block.headings)
                         + "\n</ul></nav>")
        elif isinstance(block, Table):
            parts.append(f'<div class="wide {block.kind}"><table>\n<thead><tr>'
                         + "".join(f'<th scope="col">{code_to_html(text)}</th>' for text in block.head) + "</tr></thead>\n<tbody>")
            parts += [html_row(row, looks) for row in block.rows]
            parts.append("</tbody></table></div>")
        else:
            parts.append(f"<figure>\n{block[1]}</figure>")
    return HEAD.format(title=html.escape(blocks[0].text), style=STYLE) + "\n".join(parts) + "\n</body>\n</html>\n"


def render_markdown(blocks):
    parts = []
    for block in blocks:
        if isinstance(block, Heading):
            parts.append("#" * block.level + " " + block.text)
        elif isinstance(block, Paragraph):
            parts.append(block.text)
        elif isinstance(block, Bullets):
            parts.append("\n".join(f"- {text}" for text in block.texts))
        elif isinstance(block, Contents):
            parts.append("\n".join(f"- [{text}](#{anchor(text)})" for text in block.headings))
        elif isinstance(block, Table):
            parts.append(markdown_table(block))
        else:
            picture = block[0]
            parts.append(f"![{picture.title}]({picture.name}.svg)")
    return "\n\n".join(parts) + "\n"


def markdown_table(table):
    row = lambda cells: "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    rest = "---|" if table.kind == "text" else "--:|"
    return "\n".join([row(table.head), "|---|" + rest * (len(table.head) - 1)] + [row(cells) for cells in table.rows])
