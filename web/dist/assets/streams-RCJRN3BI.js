import{e}from"./chunk-AEMJEILJ.js";function h(){return e("h1",{children:"Streams"})}export{h as View};
