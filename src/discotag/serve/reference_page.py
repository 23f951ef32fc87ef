"""The page `/docs`: the API in plain HTML, made from its OpenAPI description, without scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from discotag.render.html import safe, table

Schema = Mapping[str, Any]


def reference_page(description: Schema) -> str:
    """Return the page for an OpenAPI description."""
    info = description["info"]
    body = "\n".join(
        _operation(method, path, operation)
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    )
    schemas = "\n".join(
        _schema(name, schema) for name, schema in description["components"]["schemas"].items()
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{safe(info["title"])}: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/page.css">
</head>
<body>
<h1>{safe(info["title"])} {safe(info["version"])}: the API</h1>
<p>{safe(info.get("description", ""))}</p>
<p>For programs: <a href="/openapi.json">openapi.json</a>. To try it: <a href="/">the page</a>.</p>
<h2>Operations</h2>
{body}
<h2>Data</h2>
{schemas}
</body>
</html>
"""


def _operation(method: str, path: str, operation: Schema) -> str:
    parts = [f"<h3>{safe(method.upper())} {safe(path)}</h3>"]
    parts.append(f"<p>{safe(operation.get('description') or operation.get('summary', ''))}</p>")
    content = operation.get("requestBody", {}).get("content", {})
    for media, body in content.items():
        schema = body["schema"]
        parts.append(f"<p>Body: {safe(media)}. {safe(schema['description'])}</p>{_fields(schema)}")
    rows = [
        (status, each["description"], ", ".join(each.get("content", {})))
        for status, each in operation["responses"].items()
    ]
    parts.append(table(("status", "meaning", "content"), rows, caption="Answers", left=3))
    return f"<article>{''.join(parts)}</article>"


def _schema(name: str, schema: Schema) -> str:
    about = safe(schema.get("description", ""))
    return (
        f'<article id="{safe(name)}"><h3>{safe(name)}</h3><p>{about}</p>{_fields(schema)}</article>'
    )


def _fields(schema: Schema) -> str:
    """Return a table of the fields of an object, and an example of it."""
    needed = schema.get("required", ())
    rows = "".join(
        f"<tr><td>{safe(field)}{'' if field in needed else ' <small>(optional)</small>'}</td>"
        f"<td>{_type(of)}</td><td>{safe(of.get('description', ''))}</td></tr>"
        for field, of in schema.get("properties", {}).items()
    )
    example = schema.get("example")
    shown = f"<p>Example: <code>{safe(json.dumps(example))}</code></p>" if example else ""
    return (
        '<div class="wide"><table><thead><tr><th scope="col">field</th>'
        '<th scope="col">type</th><th scope="col">meaning</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{shown}"
    )


def _type(schema: Schema) -> str:
    """Return the type of a value as markup; a link if it has a name."""
    return " or ".join(_types(schema))


def _types(schema: Schema) -> Iterator[str]:
    if "$ref" in schema:
        name = safe(schema["$ref"].rpartition("/")[2])
        yield f'<a href="#{name}">{name}</a>'
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _types(each)
    elif schema.get("type") == "array":
        yield f"list of {_type(schema.get('items', {}))}" if "items" in schema else "pair"
    else:
        kind = safe(schema.get("type", "any"))
        bounds = [
            f"{sign} {schema[key]:g}"
            for key, sign in (("minimum", "from"), ("maximum", "to"))
            if key in schema
        ]
        default = schema.get("default")
        if default not in (None, "", []):
            bounds.append(f"default {json.dumps(default)}")
        if "enum" in schema:
            bounds.append(", ".join(map(str, schema["enum"])))
        more = f" ({safe('; '.join(bounds))})" if bounds else ""
        yield f"{kind}{more}"
