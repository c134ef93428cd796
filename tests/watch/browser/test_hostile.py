"""Names and comments that try to run as scripts are shown as what they are: text."""

import pytest

from watch.browser.live import Watch, assert_alarm, assert_soon, level, text

pytestmark = pytest.mark.browser

NAMES = (
    "<img src=x onerror=\"window.hacked='img'\">",
    "</script><script>window.hacked='script'</script>",
    "\"><svg onload=window.hacked='svg'>",
    "javascript:window.hacked='url'",
    "' onfocus=window.hacked='quote' autofocus='",
    "${window.hacked='template'}",
    "\u202egnorw si redro\u202c, " + "long" * 20,
)
COMMENT = "<iframe srcdoc=\"<script>parent.hacked='comment'</script>\"></iframe><b onclick=x>&amp;"


def test_hostile_column_names_and_comments_do_not_run(opened, tmp_path):
    with Watch(tmp_path, columns=NAMES) as watch:
        watch.learn()
        page = opened(watch.address)
        watch.feed(6, fault=15.0)
        assert_alarm(page)
        page.fill("#comment", COMMENT)
        page.click("#acknowledge")
        assert_soon(page, lambda: level(page), "acknowledged")
        for button in page.locator("#bars button").all():
            button.click()  # shows the variable
        page.reload()
        assert_soon(page, lambda: level(page), "acknowledged")

        assert set(page.locator("#variable option").all_text_contents()) == set(NAMES)
        assert set(page.locator("#bars .name").all_text_contents()) <= set(NAMES)
        assert text(page, "#bars .name") == NAMES[2]
        assert text(page, "#alarm-list .note") == COMMENT
        assert page.input_value("#comment") == COMMENT
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, iframe, script:not([src]), main svg[onload], b[onclick], [onfocus]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_the_page_may_load_is_only_its_own(watch, opened):
    page = opened(watch.address)
    said = page.evaluate("fetch('/').then(answer => answer.headers.get('content-security-policy'))")
    assert "default-src 'none'" in said
    assert "unsafe" not in said
    assert page.evaluate("performance.getEntriesByType('resource').length") > 10
    assert page.evaluate(
        "performance.getEntriesByType('resource').every(one => one.name.startsWith(location.origin + '/'))"
    )


def test_a_token_opens_the_page_and_a_changed_one_is_asked_for(opened, tmp_path):
    with Watch(tmp_path, options=("--token", "a-token-of-the-test")) as watch:
        page = opened(watch.address + "?token=a-token-of-the-test")
        assert_soon(page, lambda: level(page), "learning")
        assert "token" not in page.url
        watch.stop()
        watch.start("--token", "another-token-of-the-test")
        assert_soon(page, lambda: "asks for a token" in text(page, "#state-more"), True)
        assert level(page) == "lost"
