import type { Stage } from './stage.js';
import { byId } from './ui/dom.js';

/** Sets dark or light: as the system does, until the user presses the switch, which applies to this visit. */
export function wireTheme(stage: Stage): void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let chosen: 'dark' | 'light' | undefined;
  const apply = () => {
    document.documentElement.dataset.theme = chosen ?? (system.matches ? 'dark' : 'light');
    const styles = getComputedStyle(document.documentElement);
    const colour = (name: string) => styles.getPropertyValue(name).trim();
    stage.setTheme({ mark: colour('--mark'), fault: colour('--bad'), contact: colour('--contact') });
  };
  system.addEventListener('change', apply);
  byId('theme').addEventListener('click', () => {
    chosen = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    apply();
  });
  apply();
}
