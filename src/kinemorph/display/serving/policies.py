"""The security headers of every response: what the page may load, who may show it, and who may read it.

Everything is forbidden that is not named: scripts, styles and connections of this server only, no inline script or
style, no `eval`, no HTML from text (Trusted Types without any policy), no plug-ins, forms or base addresses.

Frames: no page may show this one in a frame, so that no click can be stolen. A notebook shows `view` in a frame by an
address of its own that holds a random key; only there pages of this computer and of VS Code's
notebooks may frame it.
"""

from __future__ import annotations

NOTEBOOKS = "http://localhost:* http://127.0.0.1:* vscode-webview: vscode-file:"

SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",
}
DOWNLOADED = "default-src 'none'; frame-ancestors 'none'; sandbox"  # a file that is opened cannot run anything
# A report that is shown: it has styles and pictures inside of it, but no script, no request, no form and no origin.
SHOWN = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " + (
    "frame-ancestors 'none'; sandbox"
)


def page_policy(host: str, *, framed: bool) -> str:
    """The content security policy of pages and their files; `host` is the checked Host header."""
    socket = "" if "[" in host else f" ws://{host}"  # browsers that do not count it among 'self'; no IPv6 in policies
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            f"connect-src 'self'{socket}",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors " + (NOTEBOOKS if framed else "'none'"),
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
