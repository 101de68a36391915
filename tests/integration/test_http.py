"""What Core serves over HTTP, to whom, and with which headers."""

import hashlib
import http.client
import json
import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pedelec_core.runtime.manifest import Manifest, list_files
from pedelec_core.sdk_modules import SDK_STATIC, SdkModules
from tests.harness import CoreProcess

APPROVED = "https://app.example"
FOREIGN = "https://evil.example"


class Answer:
    """A response, read whole."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


def ask(core: CoreProcess, path: str, method: str = "GET", **headers: str) -> Answer:
    """Send one request; underscores in the names of headers stand for dashes."""
    connection = http.client.HTTPConnection("127.0.0.1", core.port, timeout=20)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        return Answer(connection.getresponse())
    finally:
        connection.close()


def ask_raw(core: CoreProcess, *lines: str, body: bytes = b"") -> bytes:
    """Send a request exactly as it is written; what comes back until Core hangs up."""
    with socket.create_connection(("127.0.0.1", core.port), timeout=20) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
    return received


def test_health_is_told(core: CoreProcess) -> None:
    answer = ask(core, "/healthz")
    assert answer.status == 200
    assert json.loads(answer.body) == {"ok": True, "name": "pedelec-core", "version": "0.1.0"}


def test_the_site_is_served_with_its_index(core: CoreProcess) -> None:
    answer = ask(core, "/")
    assert (answer.status, answer.body) == (200, b"<h1>home</h1>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert ask(core, "/sub/").body == b"<h1>sub</h1>"
    moved = ask(core, "/sub")
    assert (moved.status, moved.headers["Location"]) == (307, f"{core.url}/sub/")


def test_a_file_that_has_not_changed_is_not_sent_again(core: CoreProcess) -> None:
    etag = ask(core, "/").headers["ETag"]
    again = ask(core, "/", If_None_Match=etag)
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", etag)
    assert ask(core, "/", If_None_Match='"other"').status == 200


def test_head_is_get_without_a_body(core: CoreProcess) -> None:
    answer = ask(core, "/", "HEAD")
    assert (answer.status, answer.body, answer.headers["Content-Length"]) == (200, b"", "13")


@pytest.fixture(scope="module")
def site_core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    """A Core whose site has files of every sort."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "secret.txt").write_text("secret")
    site = folder / "site"
    (site / "no index").mkdir(parents=True)
    (site / ".git").mkdir()
    (site / ".git" / "config").write_text("secret")
    (site / ".env").write_text("secret")
    (site / "out").symlink_to(folder / "secret.txt")
    for name in (
        "a.js",
        "a.mjs",
        "a.wasm",
        "a.py",
        "a.json",
        "a.css",
        "a.svg",
        "a.html",
        "a.d.ts",
        "a.whl",
        "a.zip",
    ):
        (site / name).write_text(name)
    (site / "ä ö.txt").write_text("umlauts")
    with CoreProcess(folder / "state", "--site", str(site)) as core:
        yield core


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "text/javascript; charset=utf-8"),
        ("a.wasm", "application/wasm"),
        ("a.py", "text/x-python; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.svg", "image/svg+xml"),
        ("a.html", "text/html; charset=utf-8"),
        ("a.d.ts", "text/plain; charset=utf-8"),
        ("a.whl", "application/octet-stream"),
        ("a.zip", "application/zip"),
        ("%C3%A4%20%C3%B6.txt", "text/plain; charset=utf-8"),
    ],
)
def test_files_have_the_types_that_browsers_insist_on(
    site_core: CoreProcess, name: str, media_type: str
) -> None:
    answer = ask(site_core, f"/{name}")
    assert (answer.status, answer.headers["Content-Type"]) == (200, media_type)


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/no%20index/",
        "/no%20index",
        "/.env",
        "/.git/config",
        "/.git/",
        "/%2eenv",
        "/x/../.env",
        "/../secret.txt",
        "/../../../../etc/passwd",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "/..%5csecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/a.js/x",
        "/out",
        "/a%00.js",
        "/" + "x" * 5000,
        "/%ff%fe",
        "/sdk/../../__init__.py",
        "/sdk/%2e%2e/__init__.py",
        "/sdk/",
    ],
)
def test_what_is_not_to_be_seen_is_not_found(site_core: CoreProcess, path: str) -> None:
    answer = ask(site_core, path)
    assert answer.status == 404
    assert b"secret" not in answer.body
    assert b"root:" not in answer.body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", "/healthz", "/pedelec.js", "/page"])
def test_nothing_can_be_changed_over_http(core: CoreProcess, method: str, path: str) -> None:
    assert ask(core, path, method).status in {403, 404, 405}


def test_without_a_site_the_root_says_so(own_core: CoreProcess) -> None:
    answer = ask(own_core, "/")
    assert answer.status == 404
    assert b"--site" in answer.body


# --- who is served -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}"]
)
def test_a_request_for_another_host_is_misdirected(core: CoreProcess, host: str) -> None:
    answer = ask(core, "/healthz", Host=host.format(port=core.port))
    assert answer.status == 421
    assert json.loads(answer.body)["ok"] is False


def test_several_hosts_or_none_are_refused(core: CoreProcess) -> None:
    host = f"Host: 127.0.0.1:{core.port}"
    assert ask_raw(core, "GET /healthz HTTP/1.1", host).startswith(b"HTTP/1.1 200")
    assert ask_raw(core, "GET /healthz HTTP/1.1", host, host).startswith(b"HTTP/1.1 4")
    assert ask_raw(core, "GET /healthz HTTP/1.1").startswith(b"HTTP/1.1 4")
    assert ask_raw(core, "GET /healthz HTTP/1.0").startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize(
    "origin", [FOREIGN, "null", "", "http://127.0.0.1:1", "https://app.example.evil.example"]
)
@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/pedelec.js", "/runtime/manifest.json", "/page", "/nothing"]
)
def test_another_origins_request_is_refused_without_cors(core: CoreProcess, origin: str, path: str) -> None:
    answer = ask(core, path, Origin=origin)
    assert answer.status == 403
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


def test_several_origins_are_refused(core: CoreProcess) -> None:
    host = f"Host: 127.0.0.1:{core.port}"
    both = (f"Origin: {APPROVED}", f"Origin: {core.url}")
    assert ask_raw(core, "GET /healthz HTTP/1.1", host, *both).startswith(b"HTTP/1.1 403")


def test_a_refusal_does_not_wait_for_the_body(core: CoreProcess) -> None:
    host = f"Host: 127.0.0.1:{core.port}"
    body = ("Content-Type: text/plain", "Content-Length: 1000000000")
    answer = ask_raw(core, "POST /page HTTP/1.1", host, f"Origin: {FOREIGN}", *body, body=b"x" * 1000)
    assert answer.startswith(b"HTTP/1.1 403")


def test_an_approved_origin_may_read_what_is_served(core: CoreProcess) -> None:
    answer = ask(core, "/healthz", Origin=APPROVED)
    assert answer.status == 200
    assert answer.headers["Access-Control-Allow-Origin"] == APPROVED
    assert answer.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_an_approved_origins_preflight_is_answered_as_the_browser_asks(core: CoreProcess) -> None:
    asked = {"Origin": APPROVED, "Access_Control_Request_Method": "GET"}
    answer = ask(core, "/runtime/manifest.json", "OPTIONS", **asked)
    assert answer.status == 204
    assert answer.headers["Access-Control-Allow-Origin"] == APPROVED
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "Access-Control-Allow-Private-Network" not in answer.headers
    answer = ask(core, "/", "OPTIONS", **asked, Access_Control_Request_Private_Network="true")
    assert answer.headers["Access-Control-Allow-Private-Network"] == "true"
    answer = ask(core, "/", "OPTIONS", **asked, Access_Control_Request_Local_Network="true")
    assert answer.headers["Access-Control-Allow-Local-Network"] == "true"


def test_another_origins_preflight_is_refused(core: CoreProcess) -> None:
    answer = ask(core, "/healthz", "OPTIONS", Origin=FOREIGN, Access_Control_Request_Method="GET")
    assert answer.status == 403


def test_cores_own_pages_get_no_cors_headers(core: CoreProcess) -> None:
    answer = ask(core, "/healthz", Origin=core.url)
    assert answer.status == 200
    assert "Access-Control-Allow-Origin" not in answer.headers


# --- the SDK and the bundle ----------------------------------------------------------------------------


def test_the_loader_can_be_loaded_by_any_page_with_a_plain_tag(core: CoreProcess) -> None:
    for path in ("/pedelec.js", "/pedelec.mjs", "/sdk/pedelec.js"):
        answer = ask(core, path)
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
        assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_modules_may_be_kept_for_good_under_the_address_that_the_loader_names(core: CoreProcess) -> None:
    loader = ask(core, "/pedelec.js")
    assert loader.headers["Cache-Control"] == "no-cache"
    assert ask(core, "/pedelec.js", If_None_Match=loader.headers["ETag"]).status == 304
    (modules,) = re.findall(rb'const MODULES = "(sdk/[0-9a-f]{16}/)";', loader.body)
    named, plain = (ask(core, f"/{folder}loader.mjs") for folder in (modules.decode(), "sdk/"))
    assert (named.status, named.body) == (200, plain.body)
    assert named.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert [each.headers["Cache-Control"] for each in (named, plain)] == [
        "public, max-age=31536000, immutable",
        "no-cache",
    ]


def test_under_another_address_a_module_is_what_it_is_now(core: CoreProcess) -> None:
    answer = ask(core, f"/sdk/{'0' * 16}/loader.mjs")
    assert (answer.status, answer.headers["Cache-Control"]) == (200, "no-cache")
    for path in ("/sdk/other/loader.mjs", f"/sdk/{'0' * 16}/none.mjs", f"/sdk/{'0' * 16}/x/loader.mjs"):
        assert ask(core, path).status == 404


def test_a_module_that_changes_gives_them_all_another_address(tmp_path: Path) -> None:
    shutil.copytree(SDK_STATIC, tmp_path / "static")
    modules = SdkModules(tmp_path / "static")
    before, loader = modules.version(), modules.loader()
    assert before == SdkModules().version()
    with (tmp_path / "static" / "socket.mjs").open("a") as module:
        module.write("// changed\n")
    assert modules.version() != before
    assert modules.loader() == loader.replace(before.encode(), modules.version().encode())


def test_the_bundle_is_served_from_its_folders(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "runtime").mkdir(parents=True)
    (bundle / "wheels").mkdir()
    (bundle / "manifest.json").write_text("{}")
    (bundle / "runtime" / "pyodide.asm.wasm").write_bytes(b"\0asm")
    (bundle / "wheels" / "pedelec-0.1.0-py3-none-any.whl").write_bytes(b"PK")
    with CoreProcess(tmp_path / "state", env={"PEDELEC_RUNTIME_DIR": str(bundle)}) as core:
        assert ask(core, "/runtime/manifest.json").body == b"{}"
        wasm = ask(core, "/runtime/pyodide.asm.wasm")
        assert (wasm.body, wasm.headers["Content-Type"]) == (b"\0asm", "application/wasm")
        assert wasm.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        assert ask(core, "/wheels/pedelec-0.1.0-py3-none-any.whl").body == b"PK"
        assert ask(core, "/runtime/../manifest.json").status == 404
        assert "pages cannot start Python" in core.log


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small bundle: one file with a compressed twin, one without."""
    folder = tmp_path_factory.mktemp("pinned") / "bundle"
    (folder / "runtime").mkdir(parents=True)
    (folder / "runtime" / "big.wasm").write_bytes(b"\0asm, long")
    (folder / "runtime" / "big.wasm.zst").write_bytes(b"short")
    (folder / "runtime" / "small.mjs").write_text("export {}")
    manifest = Manifest(
        pyodide_version="314.0.7",
        python_version="3.14.2",
        abi_version="2026_0",
        sdk_wheel="pedelec-0.1.0-py3-none-any.whl",
        compiled_sdk_wheel="pedelec-0.1.0-cp314-none-any.whl",
        packages=(),
        runtime_inputs="",
        sdk_inputs="",
        snapshot_inputs="",
        licenses=(),
        files=list_files(folder),
    )
    (folder / "manifest.json").write_text(manifest.to_json())
    return folder


@pytest.fixture(scope="module")
def with_bundle(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CoreProcess]:
    state = tmp_path_factory.mktemp("with_bundle")
    with CoreProcess(state, env={"PEDELEC_RUNTIME_DIR": str(bundle)}) as core:
        yield core


def _version(bundle: Path, file: str) -> str:
    return hashlib.sha256((bundle / file).read_bytes()).hexdigest()[:16]


def test_a_file_that_is_asked_for_by_its_hash_may_be_kept_for_good(
    with_bundle: CoreProcess, bundle: Path
) -> None:
    path = f"/runtime/small.mjs?v={_version(bundle, 'runtime/small.mjs')}"
    answer = ask(with_bundle, path)
    assert (answer.status, answer.body) == (200, b"export {}")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert ask(with_bundle, "/runtime/small.mjs").headers["Cache-Control"] == "no-cache"


def test_a_file_goes_compressed_to_whoever_takes_that(with_bundle: CoreProcess, bundle: Path) -> None:
    path = f"/runtime/big.wasm?v={_version(bundle, 'runtime/big.wasm')}"
    compressed = ask(with_bundle, path, Accept_Encoding="gzip, zstd;q=0.5")
    assert (compressed.status, compressed.body) == (200, b"short")
    assert compressed.headers["Content-Encoding"] == "zstd"
    assert compressed.headers["Content-Type"] == "application/wasm"
    assert compressed.headers["Vary"] == "Accept-Encoding"
    for asked in ({}, {"Accept_Encoding": "gzip, br"}, {"Accept_Encoding": "zstd", "Range": "bytes=0-3"}):
        plain = ask(with_bundle, path, **asked)
        assert b"\0asm, long".startswith(plain.body)
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["Vary"] == "Accept-Encoding"
    etag = compressed.headers["ETag"]
    assert ask(with_bundle, path, If_None_Match=etag, Accept_Encoding="zstd").status == 304
    assert ask(with_bundle, path, If_None_Match=etag).status == 200


@pytest.mark.parametrize("version", ["0" * 16, "short", "x" * 64])
def test_a_hash_that_no_file_has_is_told(with_bundle: CoreProcess, version: str) -> None:
    answer = ask(with_bundle, f"/runtime/small.mjs?v={version}")
    assert answer.status == 503
    assert "Cache-Control" not in answer.headers or "immutable" not in answer.headers["Cache-Control"]
    error = json.loads(answer.body)["error"]
    assert error["code"] == "CORE_RUNTIME_UNAVAILABLE"
    assert error["recoverySteps"] == ["Reload the page."]


def test_a_damaged_file_is_not_sent_under_its_hash(bundle: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "bundle"
    shutil.copytree(bundle, damaged)
    (damaged / "runtime" / "small.mjs").write_text("export []")
    (damaged / "runtime" / "big.wasm.zst").unlink()
    with CoreProcess(tmp_path / "state", env={"PEDELEC_RUNTIME_DIR": str(damaged)}) as core:
        for file in ("small.mjs", "big.wasm"):
            path = f"/runtime/{file}?v={_version(bundle, f'runtime/{file}')}"
            answer = ask(core, path, Accept_Encoding="zstd")
            assert answer.status == 503
            error = json.loads(answer.body)["error"]
            assert f"runtime/{file}" in error["message"]
            assert "pedelec-core runtime build" in error["recoverySteps"][0]


def test_without_a_bundle_core_says_how_to_make_one_and_serves_it_once_it_is_there(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    with CoreProcess(tmp_path / "state", env={"PEDELEC_RUNTIME_DIR": str(bundle)}) as core:
        assert "pedelec-core runtime build" in core.log
        for path in ("/runtime/manifest.json", "/runtime/pyodide.mjs", "/wheels/x.whl"):
            answer = ask(core, path)
            assert answer.status == 503
            assert "pedelec-core runtime build" in str(json.loads(answer.body)["error"]["recoverySteps"])
        (bundle / "runtime").mkdir(parents=True)
        (bundle / "manifest.json").write_text("{}")
        (bundle / "runtime" / "pyodide.mjs").write_text("export {}")
        assert ask(core, "/runtime/pyodide.mjs").body == b"export {}"
