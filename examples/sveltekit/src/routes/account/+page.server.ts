import { error, redirect } from '@sveltejs/kit';
import { API } from '../../lib/server/session';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ locals, url }) => {
  // `handle` has not prepared this path.
  if (!locals.accessToken) redirect(303, '/login');
  const answer = await fetch(`${API}/api/hello`, { headers: { Authorization: `Bearer ${locals.accessToken}` } });
  // For example a session that was ended elsewhere.
  const next = url.pathname + url.search;
  if (answer.status === 401) redirect(303, `/login?${new URLSearchParams({ next, ended: '1' })}`);
  if (!answer.ok) error(502);
  const { greeting } = await answer.json();
  return { greeting };
};
