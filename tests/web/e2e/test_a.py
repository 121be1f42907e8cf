async def test_a(visit, session, world):
    await visit.open(session("heap"))
    await visit.page.screenshot(path="/tmp/H/heap.png", full_page=True)
    for v in ("cells","diff/20","gc","suspects","tools","books"):
        await visit.go(session(v))
        await visit.page.screenshot(path=f"/tmp/H/{v.replace('/','_')}.png", full_page=True)
    await visit.go("")
    await visit.page.screenshot(path=f"/tmp/H/sessions.png", full_page=True)
    print(visit.errors, visit.elsewhere, await visit.violations())
    assert 0
