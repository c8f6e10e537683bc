"""Headless Chromium, offline."""


def shown(browser, file, width=1280, scheme="light"):
    """A page, and everything that went wrong."""
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme, offline=True
    )
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("requestfailed", lambda request: wrong.append(request.url))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith((file.as_uri(), "data:")) else wrong.append(request.url)
        ),
    )
    page.goto(file.as_uri())
    return page, wrong


def cut_texts(page):
    """The texts of drawings that are seen and do not fit into them."""
    return page.evaluate(
        """[...document.querySelectorAll('svg text')].filter(text => {
            const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
            const seen = inner.width && getComputedStyle(text).opacity !== '0';
            return seen && (inner.left < outer.left - 1 || inner.right > outer.right + 1
                || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1);
        }).map(text => text.textContent)"""
    )
