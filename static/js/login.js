/** What the log-in page does better with a script: it keeps the hash, follows the theme, and lets pass who is in already. */
(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    let chosen = null;
    try {
        chosen = localStorage.getItem('kinetoscope-theme');
    } catch {
        // Storage may be forbidden: the system's choice holds.
    }
    document.documentElement.dataset.theme = chosen ?? (dark.matches ? 'dark' : 'light');

    const next = new URLSearchParams(location.search).get('next') ?? '';
    const hash = next.includes('#') ? '' : location.hash;
    const form = /** @type {HTMLFormElement | null} */ (document.getElementById('login'));
    if (form) form.action = `login?next=${encodeURIComponent(next + hash)}`;

    // A link of another site comes without the cookie; what this page asks for has it. The server checks where `next` leads.
    fetch('api/v1/me').then((answer) => answer.json()).then((me) => {
        if (me.session) location.replace(`login?next=${encodeURIComponent(next + hash)}`);
    }, () => {});
})();
