import type { PagedData } from '../data/use-pages.ts';
import { Button } from './button.tsx';

/** Behind the last item that is shown: leads on where there are others. */
export const More = <T,>({ list, word }: { readonly list: PagedData<T>; readonly word: string }) =>
  list.value?.more === true ? (
    <div>
      <Button busy={list.reading} onClick={list.readMore}>
        {word}
      </Button>
    </div>
  ) : null;
