"""The page in use: by mouse, by keyboard, at three sizes, in light and dark."""

import re

import pytest

from watch.browser.live import assert_soon, level, text

pytestmark = pytest.mark.browser

SIZES = {"desktop": (1440, 900), "tablet": (820, 1180), "phone": (390, 844)}
INKS = """name => {
    const canvas = document.querySelector(`[data-chart=${name}] canvas`);
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let k = 0; k < data.length; k += 4) if (data[k + 3]) colours.add(data.slice(k, k + 4).join());
    return colours.size;
}"""

# texts that are cut off, or stand beyond their panel
CUT = """[...document.querySelectorAll('#bars .name, #bars .values, .now')].filter((text) => {
    const edge = text.closest("section").getBoundingClientRect().right;
    return text.scrollWidth > text.clientWidth || text.getBoundingClientRect().right > edge;
}).map((text) => text.textContent)"""

FOCUSED = """(() => {
    const element = document.activeElement;
    return [element.id || element.className, getComputedStyle(element).outlineWidth];
})()"""


@pytest.fixture(scope="module", autouse=True)
def _an_alarm(watch):
    watch.feed(6, fault=15.0)
    watch.feed(60)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_all_is_there_at_three_sizes_in_light_and_dark(watch, opened, size, scheme):
    page = opened(watch.address, *SIZES[size], color_scheme=scheme)
    assert_soon(page, lambda: page.locator("#alarm-list button").count() > 0, True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("document.querySelector('[data-now=trend]').textContent = '\u22120.765 to \u22120.0961'")
    page.evaluate("document.querySelector('#bars .values').textContent = '\u25b2 \u22120.561, expected \u22120.0123'")
    page.evaluate("document.querySelector('#bars .name').textContent = 'plant1/line3/pump2/'.repeat(6) + 'bearing'")
    assert page.evaluate(CUT) == []
    ids = (
        "#state-word",
        "#alarm-list button",
        "#acknowledge",
        "#live",
        "#variable",
        "#windows button",
        "#theme",
        "#bars button",
    )
    for part in ids:
        box = page.locator(part).first.bounding_box()
        assert box is not None, part
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= SIZES[size][0], part
    word = page.locator("#state-word").bounding_box()
    assert word["y"] + word["height"] < 200
    assert word["height"] >= (60 if size == "desktop" else 36)
    for chart in ("t2", "spe", "p", "trend"):
        assert_soon(page, lambda chart=chart: page.evaluate(INKS, chart) > 20, True)
    shade = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", shade)[:3])) > 380) == (scheme == "light")


def test_dragging_pauses_and_live_returns(watch, opened):
    page = opened(watch.address)
    assert page.get_attribute("#live", "aria-pressed") == "true"
    box = page.locator("[data-chart=spe] .u-over").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.5 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.9 * box["width"], y, steps=5)
    page.mouse.up()
    assert_soon(page, lambda: page.get_attribute("#live", "aria-pressed"), "false")
    shown = text(page, "#shown")
    assert shown.startswith("Paused: ")
    watch.feed(10)
    page.wait_for_timeout(600)
    assert text(page, "#shown") == shown
    page.click("#live")
    assert_soon(page, lambda: page.get_attribute("#live", "aria-pressed"), "true")
    assert text(page, "#shown") == ""


def test_a_bar_shows_its_variable(watch, opened):
    page = opened(watch.address)
    button = page.locator("#bars button").nth(1)
    name = button.locator(".name").text_content()
    assert page.input_value("#variable") != name
    button.click()
    assert_soon(page, lambda: page.input_value("#variable"), name)
    assert_soon(page, lambda: name in page.get_attribute("[data-chart=trend] .plot", "aria-label"), True)


def test_all_can_be_done_with_keys(watch, opened):
    page = opened(watch.address)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    keys = page.locator("#keys kbd").all_text_contents()
    assert {"j", "k", "a", "l", "t", "?"} <= set(keys)
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()
    page.keyboard.press("1")
    assert text(page, "#windows [aria-pressed=true]") == "1 min"
    page.keyboard.press("+")
    assert page.get_attribute("#live", "aria-pressed") == "false"
    page.keyboard.press("l")
    assert page.get_attribute("#live", "aria-pressed") == "true"
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") == "alarm"
    page.keyboard.press("c")
    page.keyboard.type("a l 1 ? are letters here")
    assert page.input_value("#comment") == "a l 1 ? are letters here"
    page.keyboard.press("Escape")
    page.keyboard.press("a")
    assert_soon(page, lambda: page.locator("#acknowledge").is_hidden(), True)
    assert text(page, "#alarm-list [aria-pressed=true] .note") == "a l 1 ? are letters here"


def test_tab_reaches_everything_and_shows_where_it_is(watch, opened):
    page = opened(watch.address)
    assert_soon(page, lambda: page.locator("#alarm-list button").count() > 0, True)
    reached, lines = set(), set()
    for _ in range(60):
        page.keyboard.press("Tab")
        where, line = page.evaluate(FOCUSED)
        reached.add(where)
        if where and page.evaluate("document.activeElement !== document.body"):
            lines.add(line)
    assert {"theme", "help-open", "alarm", "comment", "variable", "live", "zoom-in", "axes", "show-time"} <= reached
    assert lines == {"3px"}


def test_every_control_has_a_name(watch, opened):
    page = opened(watch.address)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "combobox", "textbox", "image", "link", "dialog", "group", "region", "progressbar"}
    seen = [node for node in tree if not node["ignored"] and node["role"]["value"] in roles]
    assert len(seen) > 25
    assert [node["role"]["value"] for node in seen if not node.get("name", {}).get("value")] == []


def test_colours_can_be_switched_and_stay(watch, opened):
    page = opened(watch.address, color_scheme="light")
    ground = "getComputedStyle(document.body.parentElement).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    page.click("#theme")
    assert text(page, "#theme") == "Colours: dark"
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert_soon(page, lambda: level(page) == "connecting", False)
    assert page.evaluate(ground) == dark
