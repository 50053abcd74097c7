import { pathOf } from '../../lib/paths';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ url: { searchParams } }) => ({
  next: pathOf(searchParams.get('next')),
  hasEnded: searchParams.has('ended'),
});
