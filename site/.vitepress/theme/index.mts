import './shared-choices.mts';
import { h } from 'vue';
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import NotFound from './NotFound.vue';
import OldVersion from './OldVersion.vue';
import { rankSearch } from './search.mts';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ siteData }) => rankSearch(siteData),
  Layout: () => h(DefaultTheme.Layout, null, { 'layout-top': () => h(OldVersion), 'not-found': () => h(NotFound) }),
} satisfies Theme;
