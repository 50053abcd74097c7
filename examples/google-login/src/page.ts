/** A page that signs in with Google, and asks for the user with the access token that the cookie is exchanged for. */
export const PAGE = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <title>Login with Google</title>
  <h1>Login with Google</h1>
  <p id="user">…</p>
  <p><a href="/google">Sign in with Google</a></p>
  <script type="module">
    const refreshed = await fetch('/auth/refresh', { method: 'POST' });
    const headers = refreshed.ok && { Authorization: 'Bearer ' + (await refreshed.json()).access_token };
    const user = headers && (await (await fetch('/me', { headers })).json());
    document.querySelector('#user').textContent = user ? 'Signed in as ' + user.name : 'Not signed in';
  </script>
</html>`;
